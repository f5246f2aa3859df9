#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The frames of a movie: each once, at the ends of steps that are nearest to their times, with the
# same bits after a restart. They change nothing else. tools/movie.sh says what it lacks.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py

# 20 base steps of block time steps, shorter ones about the output, and 7 frames.
cat >config.ini <<END
[box]
size = 30
npart_side = 12
[ic]
z_init = 49
[time]
z_end = 17.4
accuracy = fast
max_dlna = 0.05
[output]
redshifts = 30.1, 17.4
accelerations = yes
power_spectrum = no
images = no
movie = 7
movie_pixels = 64
checkpoint_minutes = 1e-6
[analysis]
fof = no
END
frames() { (cd "$1/movie" && echo *); }

run whole config.ini
all='frame_0000.png frame_0001.png frame_0002.png frame_0003.png frame_0004.png frame_0005.png frame_0006.png'
[ "$(frames whole)" = "$all" ] || complain "frames of the unbroken run: $(frames whole)"
for k in 1 2 3 4 5 6; do
  cmp -s whole/movie/frame_0000.png whole/movie/frame_000$k.png && complain "frame $k is the first"
done

# Frames that were drawn before a restart go elsewhere: what the restart draws is what was missing.
mkdir drawn
run parts --steps 0 config.ini
[ "$(frames parts)" = frame_0000.png ] || complain "frames of the first state: $(frames parts)"
rm -r parts
mkdir first
run parts --steps 7 config.ini
parts_of_run=0
until [ -e parts/snapshot_001.hdf5 ] || [ $parts_of_run -ge 5 ]; do
  for frame in parts/movie/*.png; do
    [ ! -e "$frame" ] && continue
    [ ! -e "drawn/${frame##*/}" ] || complain "${frame##*/} was drawn twice"
    mv "$frame" drawn
  done
  parts_of_run=$((parts_of_run + 1))
  run parts --restart --steps $((7 + 5 * parts_of_run)) config.ini
done
mv parts/movie/*.png drawn
[ $parts_of_run -ge 2 ] || complain "the run had $parts_of_run restarts, too few for this test"
diff -r whole/movie drawn >err || complain 'frames differ after restarts'

# No movie: the same particles.
run none --set output.movie=0 config.ini
[ -e none/movie ] && complain 'a folder for no movie'
for k in 000 001; do
  support same_snapshots.py whole/snapshot_$k.hdf5 none/snapshot_$k.hdf5 || failures=$((failures + 1))
done

# A movie of fewer frames takes the place of the one before.
timeout "$(seconds 60)" "$PHOTONS" --set output.dir=whole --set output.movie=2 config.ini >out 2>err &&
  complain 'a folder with results was taken'
timeout "$(seconds 60)" "$PHOTONS" --overwrite --set output.dir=whole --set output.movie=2 config.ini >out 2>err ||
  complain "--overwrite: exit code $?"
[ "$(frames whole)" = 'frame_0000.png frame_0001.png' ] ||
  complain "--overwrite: frames $(frames whole)"
grep -q '^movie .* 2 frames' out && tail -n 4 out | grep -q 'movie/' ||
  complain 'nothing said of the movie'

# tools/movie.sh with an ffmpeg that only says what it was asked for, and without one.
movie=$PHOTONS_SOURCE/tools/movie.sh
link_tools "$(mkdir tools && echo tools)" sh cat ls
cat >tools/ffmpeg <<'END'
#!/bin/sh
for last; do :; done
echo "$*" >"$last"
END
chmod +x tools/ffmpeg
[ "$(PATH=$work/tools "$movie" whole)" = whole/movie.mp4 ] &&
  grep -q -e '-i whole/movie/frame_\*.png' whole/movie.mp4 || complain 'tools/movie.sh'
PATH=$work/tools "$movie" none >out 2>err && complain 'tools/movie.sh without frames'
grep -q 'error: no frames none/movie' err || complain 'tools/movie.sh without frames: not said'
rm tools/ffmpeg
PATH=$work/tools "$movie" whole >out 2>err && complain 'tools/movie.sh without ffmpeg'
[ "$(wc -l <err)" -eq 1 ] && grep -q 'error: there is no ffmpeg.*Debian package ffmpeg' err ||
  complain 'tools/movie.sh without ffmpeg: not said'

finish
