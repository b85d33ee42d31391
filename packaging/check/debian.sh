#!/bin/sh
# usage: debian.sh PACKAGE FOLDER
#
# Starts a Debian with systemd as its first process, installs the package there, and does what
# installed.sh says. The system is unpacked into FOLDER once; whatever a check writes is gone after it.
set -eu
package=$(realpath "$1")
folder=$2
script=$(realpath "$(dirname "$0")/installed.sh")
if [ ! -d "$folder" ]; then
    rm -rf "$folder.part"
    debootstrap --variant=minbase --include=systemd,man-db,zsh,fish,iproute2 stable "$folder.part"
    mv "$folder.part" "$folder"
fi
# No manager of this computer is asked: it need not run systemd.
systemd-nspawn --quiet --directory="$folder" --volatile=overlay --private-network \
    --register=no --keep-unit --bind-ro="$package:/v6gap.deb" \
    --bind-ro="$script:/installed.sh" --boot systemd.show_status=0 \
    systemd.run=/installed.sh
