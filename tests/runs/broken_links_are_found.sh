#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/check_links.py, which make site runs: each kind of broken link in a folder of pages is
# named, and nothing else is.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python sys
mkdir -p site/sub || exit 99
touch 'site/a file.txt'
cat >site/index.html <<'END'
<h1 id="title">Title</h1>
<a href="sub/page.html#part">a heading of another page</a> <a href="#title">of this page</a>
<a href="a%20file.txt">a file</a> <a href="https://example.org/nothing">another server</a>
END
cat >site/sub/page.html <<'END'
<h2 id="part">Part</h2> <a href="/index.html">from the top</a> <a href="..">a folder</a>
<a href="../index.html#none">no such heading</a> <img src="none.png"> <a href="#none">none here</a>
END

# check FOLDER: sets status; what the script says is in err.
check() {
  "$PYTHON" "$PHOTONS_SOURCE/tools/check_links.py" "$1" >err 2>&1
  status=$?
}
check site
[ $status -eq 1 ] || complain "broken links: exit code $status"
cat >expected <<'END'
sub/page.html: broken link: #none
sub/page.html: broken link: ..
sub/page.html: broken link: ../index.html#none
sub/page.html: broken link: none.png
END
cmp -s expected err || complain "broken links: other lines than expected"

echo '<h2 id="part">Part</h2>' >site/sub/page.html
check site
[ $status -eq 0 ] && [ ! -s err ] || complain "no broken link: exit code $status"

rm -r site/sub site/index.html
check site
[ $status -eq 1 ] || complain "a folder without pages: exit code $status"
finish
