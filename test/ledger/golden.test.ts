/**
 * Every shape of event ever written can still be read. `golden-events.jsonl` has at least one line for each
 * type and schema number. Lines are only added, never edited or removed. A line in an old shape contains the
 * current shape under `today`.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventsOf } from '../../src/domain/events.ts'
import { categoryOf } from '../../src/domain/streams.ts'
import { codec } from '../../src/ledger/codec.ts'

const Line = z.strictObject({
  stream: z.string(),
  revision: z.int().nonnegative(),
  type: z.string(),
  data: z.unknown(),
  today: z.unknown().optional(),
  metadata: z.looseObject({ schema: z.int().positive() }),
})

const lines = readFileSync(new URL('golden-events.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((text, index) => ({ ...Line.parse(JSON.parse(text)), number: index + 1 }))

describe('each golden event is read as the file says', () => {
  test.each(lines)(
    'line $number: $type in $stream',
    ({ stream, revision, type, data, today, metadata, number }) => {
      const place = { id: `event-${number}`, stream, revision, position: BigInt(number) }
      expect(codec.decode({ ...place, type, data, metadata })).toStrictEqual({
        ...place,
        readable: true,
        category: categoryOf(stream),
        event: { type, data: today ?? data },
        metadata,
      })
    },
  )
})

const written = Object.entries(eventsOf).flatMap(([category, events]) =>
  events.options.flatMap(({ shape: { type } }) =>
    Array.from({ length: codec.schemaOf(type.value) }, (_, index) => ({
      category,
      type: type.value,
      schema: index + 1,
    })),
  ),
)

test.each(written)(
  '$type of $category, schema $schema, is in the golden file',
  ({ category, type, schema }) => {
    const found = lines.filter(
      (line) => categoryOf(line.stream) === category && line.type === type && line.metadata.schema === schema,
    )
    expect(found).not.toStrictEqual([])
  },
)

test('the file contains only shapes that are written', () => {
  const names = new Set(written.map(({ category, type, schema }) => `${category} ${type} ${schema}`))
  for (const { stream, type, metadata } of lines) {
    expect(names).toContain(`${categoryOf(stream)} ${type} ${metadata.schema}`)
  }
})

test('the reference names every event', () => {
  const page = readFileSync(new URL('../../docs/reference/events.md', import.meta.url), 'utf8')
  const types = [...new Set(written.map(({ type }) => type))]
  expect(types.filter((type) => !page.includes(`\`${type}\``))).toStrictEqual([])
})
