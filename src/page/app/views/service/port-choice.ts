import type { PortDetail } from '../../../../inspect/index.ts';

/** The port that the address names, or the first one. */
export function chosenPort(
  ports: readonly PortDetail[],
  { port, family }: { readonly port?: string | undefined; readonly family?: string | undefined },
): PortDetail | undefined {
  const isNamed = (each: PortDetail) => port === undefined || portId(each) === port;
  const isOfFamily = (each: PortDetail) => family === undefined || each.family === family;
  return ports.find(each => isNamed(each) && isOfFamily(each)) ?? ports.find(isNamed) ?? ports[0];
}

/** In the address: the name of the port, or its number if it has no name. */
export function portId({ name, frontends }: Pick<PortDetail, 'name' | 'frontends'>): string {
  return name === '' ? String(frontends[0]?.port ?? '') : name;
}

/** `http 80/TCP`, with the family if the Service has both. */
export function portText(port: PortDetail, hasFamilies: boolean): string {
  const number = port.frontends[0]?.port;
  const name = port.name === '' ? '' : `${port.name} `;
  return `${name}${number === undefined ? '' : `${number}/`}${port.protocol}${hasFamilies ? ` ${port.family}` : ''}`;
}
