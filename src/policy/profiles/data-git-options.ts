// Options that many subcommands of git share.

/** `git diff` and everything that shows patches. */
export const DIFF = `-p,-u,--patch -s,--no-patch -U,--unified:int --output:write --raw
  --output-indicator-new:word --output-indicator-old:word --output-indicator-context:word
  --patch-with-raw --indent-heuristic --no-indent-heuristic --minimal --patience --histogram
  --anchored:word --diff-algorithm:word --stat?word --stat-width:int --stat-name-width:int
  --stat-count:int --stat-graph-width:int --compact-summary --numstat --shortstat -X,--dirstat?word
  --cumulative --dirstat-by-file?word --summary --patch-with-stat -z --name-only --name-status
  --submodule?word --color?word --no-color --color-moved?word --no-color-moved
  --color-moved-ws:word --no-color-moved-ws --word-diff?word --word-diff-regex:word
  --color-words?word --no-renames --rename-empty --no-rename-empty --check
  --ws-error-highlight:word --full-index --binary --abbrev?int --no-abbrev
  -B,--break-rewrites?word -M,--find-renames?word -C,--find-copies?word --find-copies-harder
  -D,--irreversible-delete -l:int --diff-filter:word -S:word -G:word --find-object:rev
  --pickaxe-all --pickaxe-regex -O:path --skip-to:path --rotate-to:path -R --relative?path
  --no-relative -a,--text --ignore-cr-at-eol --ignore-space-at-eol -b,--ignore-space-change
  -w,--ignore-all-space --ignore-blank-lines -I,--ignore-matching-lines:word
  --inter-hunk-context:int -W,--function-context --exit-code --quiet --ext-diff!exec --no-ext-diff
  --textconv!exec --no-textconv --ignore-submodules?word --src-prefix:word --dst-prefix:word
  --no-prefix --default-prefix --line-prefix:word --ita-invisible-in-index
  --ita-visible-in-index -c --cc --combined-all-paths -m --diff-merges:word --no-diff-merges
  --remerge-diff --dd`;

/** `git log` and everything that walks commits. */
export const LOG = `-NUM -n,--max-count:int --skip:int --since:word --after:word
  --since-as-filter:word --until:word --before:word --author:word --committer:word
  --grep-reflog:word --grep:word --all-match --invert-grep -i,--regexp-ignore-case --basic-regexp
  -E,--extended-regexp -F,--fixed-strings -P,--perl-regexp --remove-empty --merges --no-merges
  --min-parents:int --max-parents:int --no-min-parents --no-max-parents --first-parent
  --exclude-first-parent-only --not --all --branches?word --tags?word --remotes?word --glob:word
  --exclude:word --exclude-hidden:word --reflog --single-worktree --ignore-missing --bisect
  --stdin!secret
  --cherry-mark --cherry-pick --left-only --right-only --cherry -g,--walk-reflogs --merge --boundary
  --simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges
  --ancestry-path?rev --date-order --author-date-order --topo-order --reverse --no-walk?word
  --do-walk --pretty?word --format:word --abbrev-commit --no-abbrev-commit --oneline --encoding:word
  --expand-tabs?int --no-expand-tabs --notes?word --no-notes --show-notes?word --show-signature
  --relative-date --date:word --parents --children --left-right --graph --no-graph
  --show-linear-break?word --follow --no-decorate --decorate?word --decorate-refs:word
  --decorate-refs-exclude:word --clear-decorations --source --mailmap --no-mailmap --use-mailmap
  --no-use-mailmap --full-diff --log-size -L:lines -t -r --show-pulls --header --no-commit-id --root
  ${DIFF}`;

/** `git merge`, and `git pull`, which ends in one. A strategy is a program, `git-merge-X`. */
export const MERGE = `-m,--message:word -F,--file:path --commit --no-commit -e,--edit --no-edit
  --cleanup:word --ff --no-ff --ff-only -S,--gpg-sign?word --no-gpg-sign --log?int --no-log
  --signoff --no-signoff --stat -n,--no-stat --compact-summary --squash --no-squash
  --verify --no-verify!config -s,--strategy:exec -X,--strategy-option:word --verify-signatures
  --no-verify-signatures --summary --no-summary -q,--quiet -v,--verbose --progress --no-progress
  --autostash --no-autostash --allow-unrelated-histories --into-name:rev --rerere-autoupdate
  --no-rerere-autoupdate --overwrite-ignore --no-overwrite-ignore --abort!delete --quit!delete
  --continue`;

/** `git cherry-pick` and `git revert`. */
export const CHOOSE = `-e,--edit --no-edit --cleanup:word -m,--mainline:int -n,--no-commit
  -s,--signoff -S,--gpg-sign?word --no-gpg-sign --strategy:exec -X,--strategy-option:word
  --rerere-autoupdate --no-rerere-autoupdate --reference --allow-empty --allow-empty-message
  --empty:word --continue --skip --quit --abort!delete`;

/** `git fetch` and `git pull`. */
export const NETWORK = `--all -a,--append --atomic --depth:int --deepen:int --shallow-since:word
  --shallow-exclude:rev --unshallow --update-shallow --negotiation-tip:rev --negotiate-only
  --dry-run --porcelain --write-fetch-head --no-write-fetch-head -f,--force!delete -k,--keep
  --multiple --auto-maintenance --no-auto-maintenance --auto-gc --no-auto-gc --write-commit-graph
  --prefetch -p,--prune -P,--prune-tags!delete -n,--no-tags -t,--tags --refetch
  --refmap:refspec -j,--jobs:int --no-recurse-submodules --recurse-submodules?word
  --recurse-submodules-default:word --set-upstream!config --submodule-prefix:path
  -u,--update-head-ok!delete --upload-pack:exec -q,--quiet -v,--verbose --progress --no-progress
  -o,--server-option:word --show-forced-updates --no-show-forced-updates -4,--ipv4 -6,--ipv6
  --stdin!delete --filter:word`;
