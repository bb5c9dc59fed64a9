import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { readHistory } from '../../../projections/history/queries.ts'
import { wholeNumberIn } from '../../numbers.ts'
import type { Ports } from '../../ports.ts'

const paint = (code: string) => (text: string) =>
  process.stdout.isTTY ? `\x1b[${code}m${text}\x1b[0m` : text
const bold = paint('1')
const dim = paint('2')
const green = paint('32')

const Answer = z.record(z.string(), z.unknown())

const maxTries = 20

/** Retries a 503: a busy machine may answer with one, and then nothing has happened. */
async function fetchWithRetry(url: string, request: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await fetch(url, request)
    const waitSeconds = wholeNumberIn(response.headers.get('retry-after') ?? '', 1, 60)
    if (response.status !== 503 || !waitSeconds || tries === maxTries) return response
    await response.body?.cancel()
    await setTimeout(waitSeconds * 1000)
  }
}

export type Narrator = ReturnType<typeof createNarrator>

/** Sends real requests to the demo's server, and prints each with its response and the events that it caused. */
export function createNarrator(ports: Ports<'db' | 'ledger'>, address: string, token: string) {
  let step = 0
  let position: bigint | undefined

  const say = (line = '') => process.stdout.write(`${line}\n`)

  function heading(title: string): void {
    say()
    say(bold(`${++step}. ${title}`))
  }

  /** Prints the events that were appended since the last call. */
  async function events(): Promise<void> {
    const { entries, through } = await ports.ledger.readPage(position, 1000)
    position = through ?? position
    if (entries.length === 0) say(dim('   no events: nothing changed'))
    for (const entry of entries) {
      const type = entry.readable ? entry.event.type : entry.type
      say(green(`   ● ${type}`) + dim(`  ${entry.stream} @ ${entry.revision}`))
    }
  }

  return {
    say,
    heading,
    events,
    /** @returns the parsed response */
    async request(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
      say(`   ${method} ${path}${body ? ` ${dim(JSON.stringify(body))}` : ''}`)
      const response = await fetchWithRetry(address + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      const answer = Answer.parse(await response.json())
      say(`   ${response.status} ${dim(JSON.stringify(answer))}`)
      await events()
      return answer
    },
    async history(licenseId: string): Promise<void> {
      for (const { revision, at, event, actor } of await readHistory(ports.db, licenseId)) {
        say(`   ${String(revision).padStart(2)}  ${at}  ${event.type.padEnd(18)} ${actor}`)
      }
    },
  }
}
