import './plots.css';
import { now } from '../../state/clock.ts';
import { pulseSeries, pulses } from '../../state/pulses.ts';
import { millisecondsText } from '../age.ts';
import { figuresOf } from './figures.ts';
import { SmallPlot } from './small-plot.tsx';

/** The last five minutes: how long changes took to reach the kernel, and how many syncs there were. */
export function PulsePlots() {
  const series = pulseSeries(pulses.value, now.value);
  const { lastLatencyMs, longestLatencyMs, syncsPerSecond, mostSyncs } = figuresOf(series);
  const latency = lastLatencyMs === undefined ? '–' : millisecondsText(lastLatencyMs);
  const latencyLabel =
    longestLatencyMs === undefined
      ? 'Programming latency: no change in five minutes'
      : `Programming latency, from the event to the kernel: last ${latency}, at most ${millisecondsText(longestLatencyMs)} in five minutes`;
  const rate = syncsPerSecond.toFixed(1);
  return (
    <section class="pulse-plots" aria-label="The last five minutes">
      <span class="pulse">
        <span class="quiet">Latency</span> <span class="pulse-value">{latency}</span>
        <SmallPlot seconds={series.seconds} values={series.latencyMs} kind="line" label={latencyLabel} />
      </span>
      <span class="pulse">
        <span class="quiet">Syncs</span> <span class="pulse-value">{rate}/s</span>
        <SmallPlot
          seconds={series.seconds}
          values={series.syncs}
          kind="bars"
          label={`Syncs: ${rate} a second now, at most ${mostSyncs} a second in five minutes`}
        />
      </span>
    </section>
  );
}
