# SPDX-License-Identifier: BSD-3-Clause
# Functions for commands in the guest. tests/vm/run sources this file there.

# modules rxe|siw: loads the device's modules, and user space's way to rdma_cm, which neither pulls
# in. ib_uverbs comes first, as with a hardware adapter. The kernel announces a removal in the
# reverse order. If ib_uverbs heard of it before rdma_cm, it would wait for the programs that only
# rdma_cm would tell.
modules() {
  case $1 in
    rxe) modprobe -a ib_uverbs rdma_rxe rdma_ucm crc32_generic ;;
    siw) modprobe -a ib_uverbs siw rdma_ucm ;;
    *) echo "modules: rxe or siw, not '$1'" >&2; return 2 ;;
  esac
}

# until_true SECONDS COMMAND...: waits for a condition.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [[ $SECONDS -ge $end ]] && return 1
    read -r -t 0.05 <> <(:) || true
  done
}

# An RDMA device is usable when its table has the IPv4 address of its interface, or an IPv6 address that
# begins so.
has_address() { grep -qs "${2:-:ffff:}" "/sys/class/infiniband/$1/ports/1/gids/"* || [[ $1 == siw* ]]; }

# soft_dummy rxe|siw: a device (rxe0, siw0) on the interface dum0 (10.7.0.1, 10.7.0.2): verbs, rdma_cm and
# DAPL to itself. Packets stay inside.
soft_dummy() {
  modules "$1" && modprobe dummy || return
  ip link add dum0 type dummy
  ip address add 10.7.0.1/24 dev dum0
  ip address add 10.7.0.2/24 dev dum0
  ip link set dum0 up
  rdma link add "${1}0" type "$1" netdev dum0 || return
  until_true 20 has_address "${1}0"
}

# soft_gone rxe|siw: removes soft_dummy's device.
soft_gone() {
  rdma link delete "${1}0"
  ip link delete dum0
}

# soft_peer rxe|siw: a device (rxeC, siwC) on vC 10.8.0.1 and fd00:8::1, and the network namespace B with vD
# 10.8.0.2 and fd00:8::2 for a peer in user space (in_b COMMAND...).
soft_peer() {
  modules "$1" && modprobe veth || return
  ip netns add B
  ip link add vC type veth peer name vD netns B
  ip address add 10.8.0.1/24 dev vC
  ip -n B address add 10.8.0.2/24 dev vD
  ip address add fd00:8::1/64 dev vC nodad
  ip -n B address add fd00:8::2/64 dev vD nodad
  ip link set vC up
  ip -n B link set vD up
  ip -n B link set lo up
  rdma link add "${1}C" type "$1" netdev vC || return
  until_true 20 has_address "${1}C" && until_true 20 has_address "${1}C" fd00:0008
}
in_b() { ip netns exec B "$@"; }

# listening PORT: whether something listens there by TCP.
listening() { ss -Hltn "sport = :$1" | grep -q .; }

# linked rxe|siw ADDRESS: a device (rxe0, siw0) on the interface link0, which leads to the other guest
# (SOFTDAT_VM_LINK), with this address.
linked() {
  modules "$1" && modprobe virtio_net || return
  until_true 20 compgen -G "/sys/bus/virtio/drivers/virtio_net/virtio*/net/*" >/dev/null || return
  ip link set "$(basename /sys/bus/virtio/drivers/virtio_net/virtio*/net/*)" name link0
  ip address add "$2/24" dev link0
  ip link set link0 up
  rdma link add "${1}0" type "$1" netdev link0 || return
  until_true 20 has_address "${1}0"
}
