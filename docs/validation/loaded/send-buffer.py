"""Datagrams that one socket's send buffer takes on a stopped link, and the memory of each, by
payload and family, as the kernel tells (SO_MEMINFO). Needs iproute2 and no privileges:

    unshare -rn python3 send-buffer.py
"""

import socket
import struct
import subprocess

SO_MEMINFO = 55
WRITE_MEMORY = 2  # index of SK_MEMINFO_WMEM_ALLOC
LINK = """
ip link add left type veth peer name right
ip link set left up
ip link set right up
ip addr add 10.9.9.1/24 dev left
ip -6 addr add fd09::1/64 dev left nodad
ip neigh add 10.9.9.2 lladdr 02:00:00:00:00:02 dev left
ip -6 neigh add fd09::2 lladdr 02:00:00:00:00:02 dev left
"""


def run(line):
    subprocess.run(line.split(), check=True)


def filled(family, address, payload):
    """How many datagrams a socket takes before it would block, and the memory they hold."""
    run("tc qdisc replace dev left root tbf rate 8bit burst 2000 limit 10000000")
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.connect((address, 9))
        count = 0
        try:
            while True:
                sender.send(bytes(payload))
                count += 1
        except BlockingIOError:
            pass
        memory = struct.unpack("9I", sender.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))
    run("tc qdisc del dev left root")
    return count, memory[WRITE_MEMORY] / count


for line in LINK.strip().splitlines():
    run(line)
print("payload  IPv4: datagrams, memory of one  IPv6")
for payload in range(128, 1409, 128):
    four = filled(socket.AF_INET, "10.9.9.2", payload)
    six = filled(socket.AF_INET6, "fd09::2", payload)
    print(f"{payload:5} B  {four[0]:4} {four[1]:7.0f} B  {six[0]:4} {six[1]:7.0f} B")
