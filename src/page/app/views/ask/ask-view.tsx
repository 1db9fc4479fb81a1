export function AskView() {
  return <h1>Ask</h1>;
}
