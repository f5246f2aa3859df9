#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Print the git revision of a source folder, with -modified where files differ from it. In an
# unpacked release the file git-revision says it, which make dist has written. Else: unknown.
# usage: git-revision.sh SOURCE
source=${1:?the source folder}
revision=
if [ -e "$source/.git" ]; then
  # The repository may be another user's, as in sudo make install.
  revision=$(git -c safe.directory='*' -C "$source" describe --always --abbrev=12 --exclude='*' \
    --dirty=-modified 2>/dev/null)
elif [ -r "$source/git-revision" ]; then
  read -r revision <"$source/git-revision"
fi
echo "${revision:-unknown}"
