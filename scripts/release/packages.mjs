// Which Debian packages are in which image. The lock has their versions.

/** The C and C++ libraries that Node needs. The last package has their copyright. */
const NODE_LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6', 'gcc-14-base'];

/** Both images have these. Of coreutils they have one program, `env`: the first line of our program needs it. */
export const SLIM_PACKAGES = ['base-files', 'coreutils', 'netbase', ...NODE_LIBRARIES];

/** Programs for every mode and for people, with the libraries that they need. */
export const DEFAULT_PACKAGES = [
  ...SLIM_PACKAGES,
  'bash',
  'busybox-static',
  ...['iptables', 'libip4tc2', 'libip6tc2', 'libxtables12', 'libmnl0', 'libnftnl11', 'libnfnetlink0'],
  ...['conntrack', 'libnetfilter-conntrack3'],
  ...['nftables', 'libnftables1', 'libedit2', 'libbsd0', 'libmd0', 'libtinfo6', 'libjansson4', 'libgmp10'],
  ...['ipset', 'libipset13t64'],
  ...['ipvsadm', 'libnl-3-200', 'libnl-genl-3-200', 'libpopt0'],
  ...['kmod', 'libkmod2', 'liblzma5', 'libzstd1', 'libssl3t64', 'zlib1g'],
];

/** The commands that link to busybox. No other package has them. */
export const BUSYBOX_COMMANDS =
  `[ ash awk base64 basename cat chmod chown clear cp cut date dd df diff dirname dmesg du echo
  expr false find free grep egrep fgrep gunzip gzip head hexdump hostname id ifconfig ip kill killall less ln logger ls md5sum
  mkdir mkfifo mktemp more mount mv nc netstat nproc nslookup od paste pidof ping ping6 printf ps pwd readlink realpath rm rmdir
  route sed seq sh sha256sum sleep sort stat strings sync tail tar tee test time timeout top touch tr traceroute traceroute6 true
  tty umount uname uniq uptime usleep vi watch wc wget which whoami xargs yes zcat`.split(/\s+/);
