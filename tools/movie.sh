#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Make one file of the frames that a run with output.movie has drawn.
set -eu
program=${PHOTONS_COMMAND:-${0##*/}}

usage() {
  cat <<END
usage: $program FOLDER [FILE] [RATE]
FOLDER  of the run; its frames are FOLDER/movie/frame_NNNN.png
FILE    movie to make, by its ending: .mp4, .gif ... (FOLDER/movie.mp4)
RATE    frames a second (25)
END
}
fail() {
  echo "$program: error: $*" >&2
  exit 1
}

if [ $# -lt 1 ] || [ $# -gt 3 ]; then
  usage >&2
  exit 2
fi
[ "$1" != --help ] || { usage; exit 0; }
folder=$1 file=${2:-$1/movie.mp4} rate=${3:-25}
command -v ffmpeg >/dev/null ||
  fail 'there is no ffmpeg, which makes the movie (Debian package ffmpeg)'
ls "$folder"/movie/frame_*.png >/dev/null 2>&1 ||
  fail "no frames $folder/movie/frame_NNNN.png: run with output.movie = NUMBER OF FRAMES"

# Players want even sides and the pixel format yuv420p; a gif needs a palette of its own.
case $file in
*.gif) filter='split[a][b];[a]palettegen[p];[b][p]paletteuse' format= ;;
*) filter='pad=ceil(iw/2)*2:ceil(ih/2)*2' format='-pix_fmt yuv420p' ;;
esac
# shellcheck disable=SC2086 # two words
ffmpeg -nostdin -loglevel error -y -framerate "$rate" -pattern_type glob \
  -i "$folder/movie/frame_*.png" -filter_complex "$filter" $format "$file" ||
  fail "ffmpeg could not make $file"
echo "$file"
