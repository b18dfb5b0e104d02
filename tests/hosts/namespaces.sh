#!/bin/sh
# Two hosts, or more, on one machine: network namespaces with host names of their own, joined
# by a veth pair, more than two by a bridge. As root.
#   namespaces.sh up [RATE [K]]    make K of them (2); RATE shapes each link both ways, as tc spells it (1gbit)
#   namespaces.sh mpirun ARGS...   run mpirun on the first, with DDP_HOSTS_SLOTS slots (1) on each
#   namespaces.sh on N COMMAND...  run a command on host N
#   namespaces.sh link N up|down   plug or pull the cable of host N, which answers no rsh meanwhile
#   namespaces.sh kill N           host N dies: its cable and all that runs there, at once
#   namespaces.sh down             remove them
# up says why it cannot and exits 77. The hosts belong to the process DDP_HOSTS_ID (default: the
# caller), whose number is in their names; up also removes those of processes that are gone.
set -eu
self=$(readlink -f "$0")
DDP_HOSTS_ID=${DDP_HOSTS_ID:-$PPID}
export DDP_HOSTS_ID
network=10.77.0

name() { # NUMBER; "switch" is the bridge's
    echo "ddp$DDP_HOSTS_ID-$1"
}

numbers() { # of the hosts of that process
    ip netns list | sed -n "s/^ddp$1-\([0-9]*\)\( .*\)\{0,1\}\$/\1/p" | sort -n
}

# What is left running there heard nothing of its end where a cable was out: mpirun's part on the other host.
remove() {
    for host in $(numbers "$1") switch; do
        ip netns pids "ddp$1-$host" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
        ip netns del "ddp$1-$host" 2>/dev/null || true
    done
}

remove_orphans() {
    for host in $(ip netns list | sed -n 's/^ddp\([0-9][0-9]*\)-1\( .*\)\{0,1\}$/\1/p'); do
        [ -d "/proc/$host" ] || remove "$host"
    done
}

cannot() {
    remove "$DDP_HOSTS_ID"
    echo "namespaces.sh: $1" >&2
    exit 77
}

up() {
    [ "$(id -u)" -eq 0 ] || cannot "making two hosts needs root"
    command -v ip >/dev/null || cannot "making two hosts needs ip, of package iproute2"
    remove_orphans
    remove "$DDP_HOSTS_ID"
    rate=${1:-} count=${2:-2}
    for host in $(seq "$count"); do
        ip netns add "$(name "$host")" || cannot "no network namespaces here"
    done
    unshare --uts true || cannot "no host names of their own here"
    if [ "$count" -eq 2 ]; then
        ip link add eth0 netns "$(name 1)" type veth peer name eth0 netns "$(name 2)" || cannot "no veth pairs here"
    else
        join
    fi
    for host in $(seq "$count"); do
        ip -n "$(name "$host")" addr add "$network.$host/24" dev eth0
        ip -n "$(name "$host")" link set lo up
        ip -n "$(name "$host")" link set eth0 up
        shape "$(name "$host")" eth0
    done
}

shape() { # NAMESPACE DEVICE
    [ -z "$rate" ] || tc -n "$1" qdisc replace dev "$2" root tbf rate "$rate" burst 512k latency 50ms ||
        cannot "tc cannot shape the link to $rate"
}

join() {
    switch=$(name switch)
    ip netns add "$switch"
    ip -n "$switch" link add bridge type bridge || cannot "no bridges here"
    ip -n "$switch" link set bridge up
    for host in $(seq "$count"); do
        ip link add eth0 netns "$(name "$host")" type veth peer name "port$host" netns "$switch" || cannot "no veth pairs here"
        ip -n "$switch" link set "port$host" master bridge up
        shape "$switch" "port$host"
    done
}

# shellcheck disable=SC2016 # the inner shell expands them
on_host() { # NUMBER COMMAND...
    host=$(name "$1")
    shift
    exec unshare --uts sh -c 'hostname "$0" && exec ip netns exec "$0" "$@"' "$host" "$@"
}

has_cable() { # NUMBER
    ip -n "$(name "$1")" link show eth0 | grep -q "LOWER_UP"
}

case "${1:-}" in
up)
    shift
    up "$@"
    ;;
down)
    remove "$DDP_HOSTS_ID"
    ;;
mpirun)
    shift
    slots=${DDP_HOSTS_SLOTS:-1}
    # Open MPI 5 starts nothing on this host where -H has its address. Open MPI 4 reads the first two of these variables, 5 the others.
    export OMPI_MCA_plm_rsh_agent="$self rsh" OMPI_MCA_oob_tcp_if_include="$network.0/24"
    export PRTE_MCA_plm_ssh_agent="$self rsh" PRTE_MCA_prte_if_include="$network.0/24"
    on_host 1 mpirun --bind-to none --mca btl tcp,self --mca btl_tcp_if_include "$network.0/24" \
        -H "$(name 1):$slots$(numbers "$DDP_HOSTS_ID" | sed "1d; s/.*/,$network.&:$slots/" | paste -sd '')" "$@"
    ;;
on)
    shift
    on_host "$@"
    ;;
link)
    ip -n "$(name "$2")" link set eth0 "$3"
    ;;
kill) # its kernel says nothing to the others, either: the cable first
    ip -n "$(name "$2")" link set eth0 down
    ip netns pids "$(name "$2")" | xargs -r kill -KILL
    ;;
rsh) # as mpirun calls it: ADDRESS COMMAND
    shift
    host=${1##*.}
    shift
    has_cable "$host" || exit 255
    # What ssh does not pass on, either.
    unset DARKNET_DDP_STARTER DARKNET_DDP_MUST_RESUME DARKNET_DDP_RESTARTED
    (on_host "$host" sh -c "$*") && exit
    status=$?
    # As ssh, which runs on the other host: of one that has died it hears nothing.
    while ! has_cable "$host"; do
        sleep .2
    done
    exit "$status"
    ;;
*)
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
