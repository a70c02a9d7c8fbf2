# shellcheck shell=bash
# What the scripts print: numbered steps, how long each took, and why one failed.

if [ -t 1 ]; then
  bold=$'\033[1m' red=$'\033[31m' green=$'\033[32m' plain=$'\033[0m'
else
  bold='' red='' green='' plain=''
fi

step_number=0
step_started=$SECONDS

# step TITLE: ends the step before, and announces the next one.
step() {
  step_done
  step_number=$((step_number + 1))
  step_started=$SECONDS
  step_open=yes
  printf '%s==> %d. %s%s\n' "$bold" "$step_number" "$1" "$plain"
}

step_open=no
step_done() {
  if [ "$step_open" = yes ]; then
    printf '    done in %d s\n' $((SECONDS - step_started))
    step_open=no
  fi
}

# success MESSAGE: ends the last step, and says that all is well.
success() {
  step_done
  printf '%s%s%s (%d s)\n' "$green" "$1" "$plain" "$SECONDS"
}

# note MESSAGE
note() { printf '    %s\n' "$1"; }

# fail MESSAGE [STATUS]: says what is wrong on standard error, and ends the script.
fail() {
  printf '%serror:%s %s\n' "$red" "$plain" "$1" >&2
  exit "${2:-1}"
}

# usage: prints the comment at the head of the calling script, which is its help.
usage() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"; }
