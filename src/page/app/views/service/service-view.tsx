export function ServiceView() {
  return <h1>Service</h1>;
}
