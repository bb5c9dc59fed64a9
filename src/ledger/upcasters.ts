/** Takes an event's data in the shape of one schema number and returns it in the next one's. */
type Upcaster = (data: unknown) => unknown

/**
 * How old shapes become today's, by event type: the first upcaster turns schema 1 into 2, the second 2 into 3,
 * and so on, so the current schema number of a type is the length of its list plus one. A shape once recorded is
 * never edited: change the zod schema, add the upcaster here, and add the old shape's line to the golden file
 * (test/ledger/golden-events.jsonl), which holds every shape ever written.
 */
export type Upcasters = Readonly<Record<string, readonly Upcaster[]>>

export const upcasters: Upcasters = {}
