/** The kernel keeps 15 characters of a name, and takes only letters, digits, underscores and dots. */
export function objectName(name: string): string {
  return name.replaceAll(/[^\w.]/g, '_').slice(0, 15);
}
