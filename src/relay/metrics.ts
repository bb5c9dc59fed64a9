import type { Relay } from './relay.ts'

type Metric = { name: string; type: 'gauge' | 'counter'; help: string; value: number }

/** What Prometheus reads of a relay, in its text format. Counters begin at 0 with each start. */
export function metricsOf(relay: Relay): string {
  const { inUse, seats } = relay.use()
  const standing = relay.standing()
  const end = 'certified' in standing ? Date.parse(standing.certified.claims.exp) / 1000 : 0
  const { taken, denied, heartbeats } = relay.counted
  const metrics: Metric[] = [
    { name: 'seats', type: 'gauge', help: 'Seats that the certificate allows', value: seats },
    { name: 'seats_in_use', type: 'gauge', help: 'Seats in use', value: inUse },
    { name: 'seats_taken_total', type: 'counter', help: 'Seats that were taken', value: taken },
    { name: 'seats_denied_total', type: 'counter', help: 'Activations that got no seat', value: denied },
    {
      name: 'heartbeats_total',
      type: 'counter',
      help: 'Heartbeats and validates that kept a seat',
      value: heartbeats,
    },
    {
      name: 'certificate_end_seconds',
      type: 'gauge',
      help: 'When the certificate ends, in Unix seconds; 0 without one',
      value: end,
    },
    {
      name: 'clock_ahead_seconds',
      type: 'gauge',
      help: "How far the machine's clock is ahead of the relay's time; negative where it is behind",
      value: Math.round(relay.clock.aheadMs() / 1000),
    },
  ]
  const lines = metrics.flatMap(({ name, type, help, value }) => [
    `# HELP keyledger_relay_${name} ${help}`,
    `# TYPE keyledger_relay_${name} ${type}`,
    `keyledger_relay_${name} ${String(value)}`,
  ])
  return `${lines.join('\n')}\n`
}
