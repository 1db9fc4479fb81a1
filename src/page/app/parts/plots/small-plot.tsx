import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

interface SmallPlotProps {
  readonly seconds: readonly number[];
  readonly values: readonly (number | null)[];
  readonly kind: 'line' | 'bars';
  /** The plot in words, with its current values. */
  readonly label: string;
  /** In pixels, as the style sheet says. */
  readonly width?: number;
  readonly height?: number;
}

const WIDTH = 120;
const HEIGHT = 26;
const MAX_POINTS = 60;

/** A plot without axes. Screen readers read its label. */
export function SmallPlot({ seconds, values, kind, label, width = WIDTH, height = HEIGHT }: SmallPlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    if (box.current)
      plot.current = new uPlot({ ...optionsOf(kind, box.current), width, height }, [[], []], box.current);
    return () => plot.current?.destroy();
  }, [kind, width, height]);
  useEffect(() => {
    plot.current?.setData([[...seconds], [...values]]);
  }, [seconds, values]);
  return <div ref={box} class="small-plot" role="img" aria-label={label} title={label} />;
}

function optionsOf(kind: 'line' | 'bars', box: HTMLElement): Omit<uPlot.Options, 'width' | 'height'> {
  // The style sheet decides on the colour, which changes with the theme.
  const colour = () => getComputedStyle(box).color;
  const isLine = kind === 'line';
  const bars = uPlot.paths.bars?.({ size: [1, 100] });
  return {
    padding: [2, 0, 2, 0],
    legend: { show: false },
    cursor: { show: false },
    axes: [{ show: false }, { show: false }],
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(max, Number.MIN_VALUE)] } },
    series: [
      {},
      {
        stroke: colour,
        fill: isLine ? undefined : colour,
        width: isLine ? 1.25 : 0,
        spanGaps: true,
        points: { show: isLine && hasFewValues, size: 2.5, fill: colour, width: 0 },
        ...(isLine || !bars ? {} : { paths: bars }),
      },
    ] as uPlot.Series[],
  };
}

/** A value between two seconds without one would be invisible without a point. Many points hide the line. */
function hasFewValues({ data }: uPlot): boolean {
  return (data[1] ?? []).filter(value => typeof value === 'number').length < MAX_POINTS;
}
