// The programs that tests and benches need. Each program has the Debian package that contains it.

/** @typedef {Readonly<Record<string, string>>} Programs */

/** The programs that our own code runs or is compared with. */
export const REFERENCE_PROGRAMS = {
  nft: 'nftables',
  iptables: 'iptables',
  ipset: 'ipset',
  conntrack: 'conntrack',
  ip: 'iproute2',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  strace: 'strace',
  ps: 'procps',
  pgrep: 'procps',
  pidof: 'sysvinit-utils',
};

/** Shells whose completion is tested, and the program that gives a test a terminal. */
export const TERMINAL_PROGRAMS = {
  bash: 'bash',
  zsh: 'zsh',
  fish: 'fish',
  script: 'bsdutils',
};

/** The browser. A font comes with it: one of its libraries needs a font package. */
export const BROWSER_PROGRAMS = { ...REFERENCE_PROGRAMS, chromium: 'chromium' };

export const GUEST_PROGRAMS = {
  ...REFERENCE_PROGRAMS,
  'linux.uml': 'user-mode-linux',
  modprobe: 'kmod',
  ipvsadm: 'ipvsadm',
};

/** The programs that make a release. */
export const BUILD_PROGRAMS = { git: 'git', xz: 'xz-utils' };

export const RELEASE_PROGRAMS = {
  ...REFERENCE_PROGRAMS,
  ...BUILD_PROGRAMS,
  runc: 'runc',
  'qemu-aarch64-static': 'qemu-user-static',
};

/** The programs of the conformance tests' nodes that Go does not build. */
export const CONFORMANCE_PROGRAMS = {
  ...REFERENCE_PROGRAMS,
  ...BUILD_PROGRAMS,
  runc: 'runc',
  nsenter: 'util-linux',
  openssl: 'openssl',
  debootstrap: 'debootstrap',
};
