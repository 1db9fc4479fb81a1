export function ServicesView() {
  return <h1>Services</h1>;
}
