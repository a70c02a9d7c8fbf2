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

# is_within MINUTES: whether the script has not taken longer.
is_within() { [ "$SECONDS" -lt $((60 * $1)) ]; }

# The steps that were left out.
left_out=()

# timely_step TITLE [PROCESS]: begins a step, unless the script has taken the minutes that it may take already ($minutes). A step that needs what a
# process builds in the background waits for that meanwhile, and one whose process was not begun is left out.
timely_step() {
  if [ $# -eq 1 ]; then
    if is_within "$minutes"; then
      step "$1"
      return
    fi
  elif [ -n "$2" ] && await_background "$2"; then
    step "$1"
    return
  fi
  step_done
  note "left out, since the machine is slow: $1"
  left_out+=("$1")
  return 1
}

# await_background PROCESS: waits for a build in the background, which goes first from now on, as long as the script may take.
await_background() {
  renice_tree 0 "$1"
  while kill -0 "$1" 2> /dev/null; do
    if ! is_within "$minutes"; then return 1; fi
    sleep 1
  done
}

# success_of_steps MESSAGE: the same as success, with the steps that were left out.
success_of_steps() {
  step_done
  if [ "${#left_out[@]}" -gt 0 ]; then
    printf '    Left out after %d minutes:\n' "$minutes"
    printf '      %s\n' "${left_out[@]}"
  fi
  success "$1"
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
