/** Guarantee: the page about receiving webhooks lists every event and its fields, and which events an endpoint has to name. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventsByName, WebhookEventName } from '../../src/domain/webhooks/events.ts'
import { payloads } from '../../src/webhooks/payloads.ts'

const page = readFileSync(new URL('../../docs/reference/webhooks.md', import.meta.url), 'utf8')
const quotedIn = (text: string): string[] =>
  [...text.matchAll(/`([a-z_]+)`/g)].flatMap(([, name]) => name ?? [])
const rowsIn = (block: string) =>
  [...block.matchAll(/^\| `((?:license|usage)\.[a-z_]+)` +\|[^|]*\|([^|]*)\|$/gm)].map(
    ([, event = '', fields = '']) => ({
      event,
      fields: quotedIn(fields),
    }),
  )
const tables = page
  .split('\n\n')
  .map(rowsIn)
  .filter((rows) => rows.length > 0)

test('every event is on the page, those that have to be named in a table of their own', () => {
  expect(tables.flat().map(({ event }) => event)).toStrictEqual(WebhookEventName.options)
  expect(tables[1]?.map(({ event }) => event)).toStrictEqual([...eventsByName])
})

test('every field of an event besides the common ones is in its row', () => {
  const common = Object.keys(payloads.find(({ event }) => event === 'license.resumed')?.payload.shape ?? {})
  const fields = new Map(tables.flat().map(({ event, fields: own }) => [event, own]))
  for (const { event, payload } of payloads) {
    const own = Object.keys(payload.shape).filter((name) => !common.includes(name))
    expect([event, fields.get(event)?.filter((name) => name !== 'api' && name !== 'import')]).toStrictEqual([
      event,
      own,
    ])
  }
})
