// Connections that send one request after another, for `npm run bench hostile`: one line of JSON on stdin, until stdin ends; prints
// how many were sent.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { request } from 'undici'
import { z } from 'zod'

const Attack = z.object({
  connections: z.int(),
  url: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
})
export type Attack = z.infer<typeof Attack>

const input = createInterface(process.stdin)
const [line] = (await once(input, 'line')) as [string]
const { connections, url, method, headers, body } = Attack.parse(JSON.parse(line))
let isOver = false
input.once('close', () => {
  isOver = true
})
let sent = 0
await Promise.all(
  Array.from({ length: connections }, async () => {
    for (; !isOver; sent++) await send()
  }),
)
process.stdout.write(String(sent))

/** The connection may be closed instead of an answer. */
async function send(): Promise<void> {
  try {
    const answer = await request(url, { method, headers, ...(body !== undefined && { body }) })
    await answer.body.dump({ limit: Number.POSITIVE_INFINITY })
  } catch {
    // Closed, which is an answer too.
  }
}
