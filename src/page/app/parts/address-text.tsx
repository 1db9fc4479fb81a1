/** An IP, an `ip:port` or a port, in figures of one width. */
export function AddressText({ children }: { readonly children: string }) {
  return <span class="mono">{children}</span>;
}
