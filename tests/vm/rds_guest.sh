# SPDX-License-Identifier: BSD-3-Clause
# RDS in user space with Linux's own as the peer. check_guest.sh sources this.
#
# Linux listens on RDS's service for all addresses of its host. So our RDS over verbs needs a host of
# its own: there are two guests, of which the one called rds-linux has Linux's RDS and does what it
# is told (there). Over softnet-udp ours is in a network namespace of that guest.

own=10.7.1.2 linux=10.7.1.1 remote_port=7777
# Seconds after which a program hangs.
rds_limit=90

there() { "$here/remote.py" run "$linux" "$remote_port" "cd $PWD; $1"; }

# The guest with Linux's RDS.
rds_linux() {
  linked rxe "$linux" && soft_peer rxe && modprobe -a rds rds_rdma || {
    echo "FAILED rds-linux: no device, or no RDS"
    return
  }
  export SOFTDAT_BIN=$bin
  "$here/remote.py" serve "$remote_port"
}

# Commands that run a program over ours, and over Linux's RDS: set by rds_pair.
# rds_pair WIRE: between which two the following checks are.
rds_pair() {
  wire=$1
  local with="SOFTDAT_BIN=$bin SOFTDAT_RDS_IA=$wire- timeout --foreground $rds_limit"
  at_linux="timeout --foreground $rds_limit"
  if [[ $wire == verbs ]]; then
    ours_at=$own linux_at=$linux
    at_ours="env $with"
    ours() { bash -c "$1"; }
  else
    ours_at=10.8.0.2 linux_at=10.8.0.1
    at_ours="ip netns exec B env $with"
    ours() { there "$1"; }
  fi
  over_rds=$root/tools/softdat-run\ --rds
}

# rds_says NAME PATTERN COMMAND...: the command's status is 0, and a line of its output is like that.
rds_says() {
  local name="rds over $wire: $1" pattern=$2 said status
  shift 2
  said=$("$@" 2>&1)
  status=$?
  if [[ $status -eq 0 ]] && grep -qE "$pattern" <<<"$said"; then
    echo "ok $name"
  else
    echo "FAILED $name: status $status"
    tail -5 <<<"$said" | sed 's/^/  /'
  fi
}

# serving WHO COMMAND: starts it there in the background. Sets `ports` to the numbers at the ends of
# the lines that it prints first, as many as $3 says.
serving() {
  : >/tmp/served
  "$1" "$2" >/tmp/served 2>&1 &
  server=$!
  until_true "$rds_limit" enough_lines "$3"
  ports=$(sed -nE "1,$3s/.*: ([0-9]+)$/\1/p" /tmp/served | paste -sd ' ')
}
enough_lines() { [[ $(wc -l </tmp/served) -ge $1 ]]; }
served() {
  pkill -P $server
  wait $server 2>/dev/null
}

# rds_example NAME PATTERN LINES SERVER-ARGUMENT CLIENT-ARGUMENT [MORE]: the example, both ways round.
rds_example() {
  local program=$bin/examples/$1 title=$1 pattern=$2 lines=$3 server_word=$4 client_word=$5 more=${6:-}
  serving there "$at_linux $program $server_word $linux_at" "$lines"
  rds_says "$title from ours to Linux" "$pattern" \
    ours "$at_ours $over_rds $program $client_word $ours_at $linux_at $ports $more"
  served
  serving ours "$at_ours $over_rds $program $server_word $ours_at" "$lines"
  # Linux may not have heard yet that the connection of the last process is over. It opens no memory then.
  there "$at_linux $bin/tools/rds-softping --kernel -c 1 -w 20 -I $linux_at $ours_at" >/share/ping.log 2>&1
  rds_says "$title from Linux to ours" "$pattern" \
    there "$at_linux $program $client_word $linux_at $ours_at $ports $more"
  served
}

# rds_load NAME OPTION...: rds-softstress, whose active end says what is done, both ways round.
rds_load() {
  local title=$1 stress=$bin/tools/rds-softstress active
  shift
  active="--connect-retries 60 -T 2 -z -v -d 2 -q 1024 -a 256 $*"
  serving there "$at_linux $stress --kernel -r $linux_at" 1
  rds_says "$title, started by ours" average ours "$at_ours $root/tools/softdat-run $stress -r $ours_at -s $linux_at $active"
  rds_ends "$title, ended by Linux"
  serving ours "$at_ours $root/tools/softdat-run $stress -r $ours_at" 1
  rds_says "$title, started by Linux" average there "$at_linux $stress --kernel -r $linux_at -s $ours_at $active"
  rds_ends "$title, ended by ours"
}
# The passive end has verified all as well.
rds_ends() {
  if wait $server; then
    echo "ok rds over $wire: $1"
  else
    echo "FAILED rds over $wire: $1"
    tail -3 /tmp/served | sed 's/^/  /'
  fi
}

# Linux has one connection between two addresses. Of two processes of ours the one that came first speaks
# to it for the other, which does so itself when a signal has ended that one.
rds_two_processes() {
  local message="$at_ours $over_rds $bin/examples/rds_message" holder ping=$bin/tools/rds-softping
  ours "$message server $ours_at" >/tmp/holder 2>&1 &
  holder=$!
  until_true "$rds_limit" grep -q : /tmp/holder
  serving ours "$message server $ours_at" 1
  rds_says "a message from Linux through another process" '^back: hello$' \
    there "$at_linux $bin/examples/rds_message client $linux_at $ours_at $ports hello"
  pkill -P $holder
  wait $holder 2>/dev/null
  rds_says "a message from Linux when that process has ended" '^back: hello$' \
    there "$at_linux $bin/examples/rds_message client $linux_at $ours_at $ports hello"
  rds_says "two processes ping Linux" '^3 sent, 3 answered' \
    ours "$at_ours $root/tools/softdat-run $ping -c 3 -w 20 -I $ours_at $linux_at"
  served
  rds_load "messages of two processes" -t 2
}

rds_checks() {
  wanted "rds over $1 with Linux" || return 0
  rds_pair "$1"
  local ping=$bin/tools/rds-softping
  rds_says "Linux answers pings" '^3 sent, 3 answered' ours "$at_ours $root/tools/softdat-run $ping -c 3 -w 20 -I $ours_at $linux_at"
  serving ours "$at_ours $over_rds $bin/examples/rds_message server $ours_at" 1
  rds_says "ours answers pings" '^3 sent, 3 answered' there "$at_linux $ping --kernel -c 3 -w 20 -I $linux_at $ours_at"
  served
  rds_example rds_message '^back: hello$' 1 server client hello
  rds_example rds_rdma '100000 bytes are in place' 1 server client
  rds_example rds_congestion 'free again' 2 receiver sender
  rds_load messages
  rds_two_processes
  rds_load RDMA -D 16K
}

rds_with_linux() {
  if chosen "rds over verbs with Linux" "rds over softnet-udp with Linux"; then
    linked rxe "$own" || echo "FAILED rds: no device"
    # The same over our verbs: "rds tests over verbs on rxe" run there as well.
    ! rare || rds_checks verbs
    rds_checks softnet-udp
  fi
  "$here/remote.py" run "$linux" "$remote_port" exit
}
