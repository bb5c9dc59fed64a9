import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { type Category, type EventOf, eventsOf } from '../../src/domain/events.ts'
import { categoryOf } from '../../src/domain/streams.ts'

const Line = z.looseObject({
  stream: z.string(),
  type: z.string(),
  data: z.unknown(),
  today: z.unknown().optional(),
})

const lines = readFileSync(new URL('../ledger/golden-events.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((text) => Line.parse(JSON.parse(text)))

/** Every golden event of a category, in today's shape. */
export function goldenEvents<C extends Category>(category: C): EventOf<C>[] {
  const events: z.ZodType<EventOf<C>> = eventsOf[category] as never
  return lines
    .filter(({ stream }) => categoryOf(stream) === category)
    .map(({ type, data, today }) => events.parse({ type, data: today ?? data }))
}

/** The data of the first golden event of a type. */
export function goldenData<C extends Category, T extends EventOf<C>['type']>(
  category: C,
  type: T,
): Extract<EventOf<C>, { type: T }>['data'] {
  const found = goldenEvents(category).find((event) => event.type === type)
  if (!found) throw new Error(`no golden event ${type}`)
  return found.data as Extract<EventOf<C>, { type: T }>['data']
}
