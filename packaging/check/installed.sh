#!/bin/bash
# Installs /v6gap.deb in a running Debian, tries what it brought, purges it, and looks for what is
# left. Runs as a service of that system (see debian.sh); its exit code is that of the system.
set -euo pipefail
exec >/dev/console 2>&1
export V6GAP_DATA=/tmp/v6gap
trap 'echo "line $LINENO: $BASH_COMMAND: failed"' ERR
trap 'journalctl --no-pager -u v6gap | tail -30' EXIT

say() { echo "== $*"; }
files() { find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /var/log \
    -o -path /var/lib/dpkg -o -path /var/cache -o -path /var/lib/systemd \) -prune -o -print | sort; }

say installing
mkdir -p /var/lib/private
files >/tmp/before
dpkg -i /v6gap.deb
dpkg -V v6gap
v6gap --version
! systemctl is-enabled --quiet v6gap
! systemctl is-active --quiet v6gap

say documents
MANWIDTH=80 man -l /usr/share/man/man1/v6gap.1.gz | head -5
for page in /usr/share/man/man*/v6gap*.gz; do
    man --warnings -l "$page" 2>&1 >/dev/null | tee -a /tmp/warnings
done
[ ! -s /tmp/warnings ]
bash -n /usr/share/bash-completion/completions/v6gap
zsh -n /usr/share/zsh/vendor-completions/_v6gap
fish --no-execute /usr/share/fish/vendor_completions.d/v6gap.fish
bash -c '. /usr/share/bash-completion/completions/v6gap
    COMP_WORDS=(v6gap comp) COMP_CWORD=1 && _v6gap v6gap comp v6gap && echo "${COMPREPLY[@]}"' |
    grep -q completions

say the units
for unit in v6gap.service v6gap-watch.service; do
    systemd-analyze verify "$unit"
    systemd-analyze security --no-pager --threshold=20 "$unit" >/tmp/security ||
        { cat /tmp/security; exit 1; }
    tail -1 /tmp/security
done

measure() { v6gap run here --v4 127.0.0.1 --v6 ::1 --measure rtt,throughput --pairs 6 "$@" \
    >/tmp/measured 2>&1 || { cat /tmp/measured; exit 1; }; grep '/s\|µs' /tmp/measured; }
# Whether a server listens on both protocols and families.
listens() { [ "$(ss -Hlntu 'sport = 4466' | wc -l)" = 4 ]; }
served() {
    systemctl restart v6gap
    for _ in $(seq 100); do listens && return; sleep 0.1; done
    echo "it does not listen"; exit 1
}

say "the server, for near networks"
ip link set lo up
served
measure
systemctl show v6gap -p Result
grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$(systemctl show v6gap -P MainPID)/status"

say "the server, with a key"
v6gap serve --new-key /etc/v6gap/lab >/dev/null
echo 'OPTIONS="--public --key-file /run/credentials/v6gap.service/key_lab"' >/etc/default/v6gap
served
measure --key-file /etc/v6gap/lab
if v6gap check here --v4 127.0.0.1 --v6 ::1 >/dev/null 2>&1; then echo "served without"; exit 1; fi

say purging
systemctl enable --quiet v6gap
dpkg --purge v6gap
! systemctl is-active --quiet v6gap
files >/tmp/after
diff /tmp/before /tmp/after
[ -z "$(getent passwd v6gap || :)" ]
say "nothing is left"
trap - EXIT
