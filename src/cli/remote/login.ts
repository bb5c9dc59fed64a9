import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import type { Client } from './client.ts'
import { RemoteError } from './errors.ts'

const Codes = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  expires_in: z.number(),
  interval: z.number(),
})
/** What a person approves, and what polls for the token. */
export type Codes = z.infer<typeof Codes>

const Granted = z.object({
  access_token: z.string(),
  tenant_id: z.string(),
  scopes: z.array(z.string()),
  expires_at: z.string().nullable(),
})
export type Granted = z.infer<typeof Granted>

/** Starts a device authorization (RFC 8628). @param scopes all of the management interface when undefined */
export async function startLogin(
  client: Client,
  clientName: string,
  scopes: readonly string[] | undefined,
): Promise<Codes> {
  const body = { client_name: clientName, ...(scopes && { scopes }) }
  return Codes.parse((await client.call({ method: 'POST', path: '/v1/login/device', body })).body)
}

/** How much slower to poll when the server says `slow_down` (RFC 8628, section 3.5). */
const slowerBySeconds = 5

/**
 * Polls until a person has decided.
 * @throws CommandRefused when they deny it, or nobody decides in time
 */
export async function awaitToken(
  client: Client,
  codes: Codes,
  sleep: (ms: number) => Promise<unknown> = (ms) => pause(ms),
): Promise<Granted> {
  let seconds = codes.interval
  for (;;) {
    await sleep(seconds * 1000)
    const body = { device_code: codes.device_code }
    // The token is returned once, so a lost answer means to begin again.
    const call = { method: 'POST', path: '/v1/login/device/token', body, repeatable: false } as const
    const answer = await client.call(call).catch((error: unknown) => {
      if (!(error instanceof RemoteError && error.status === 400)) throw error
      return error.oauthError
    })
    if (typeof answer === 'object') return Granted.parse(answer.body)
    if (answer === 'authorization_pending') continue
    if (answer === 'slow_down') seconds += slowerBySeconds
    else if (answer === 'access_denied') throw new CommandRefused('The sign-in was denied.')
    else throw new CommandRefused('The sign-in was not approved in time. Run the command again.')
  }
}
