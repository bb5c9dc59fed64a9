import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** Where the test vectors are. */
export const vectors = join(import.meta.dirname, '../../../docs/reference/vectors')

const Cases = z.object({ cases: z.array(z.unknown()), readings: z.array(z.unknown()).default([]) })

/** How many vectors a client for apps has to pass: all but those of webhooks, which reach servers. */
export const countVectors = (): number =>
  readdirSync(vectors)
    .filter((name) => name.endsWith('.json') && name !== 'webhooks.json')
    .map((name) => Cases.parse(JSON.parse(readFileSync(join(vectors, name), 'utf8'))))
    .reduce((sum, { cases, readings }) => sum + cases.length + readings.length, 0)
