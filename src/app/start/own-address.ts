import { createServer } from 'node:net'
import { z } from 'zod'
import type { Config } from '../../config.ts'
import type { SendNotification } from '../../reactions/test-purchase-driver.ts'
import { CommandRefused } from '../../terminal/exit-codes.ts'

const answerMs = 15_000

/** The base of the URLs that keyledger hands out and that payment providers call. */
export const baseUrlOf = ({ baseUrl, port }: Pick<Config, 'baseUrl' | 'port'>): string =>
  baseUrl ?? `http://localhost:${port}`

/**
 * Checks that the port can be listened on, before any store is started, and replaces port 0 by a free one, before any URL with the
 * port is handed out.
 * @throws CommandRefused when it cannot be listened on
 */
export async function withRealPort(config: Config): Promise<Config> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject).listen(config.port, config.host, resolve)
    })
    return { ...config, port: Port.parse(probe.address()).port }
  } catch (error) {
    throw new CommandRefused(whyNotListening(error, config))
  } finally {
    await new Promise((closed) => probe.close(closed))
  }
}

const Port = z.object({ port: z.int() })

/** Sends a notification to the public URL, for processes that do not serve HTTP themselves. */
export function sendOverHttp(baseUrl: string): SendNotification {
  return async ({ path, headers, body }) => {
    const signal = AbortSignal.timeout(answerMs)
    try {
      const answer = await fetch(`${baseUrl}${path}`, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal,
      })
      return { status: answer.status, body: await answer.text() }
    } catch {
      // The message of a connection error may quote the URL, which contains Gumroad's token.
      return undefined
    }
  }
}

/** The reason why a server cannot listen, and what to do about it. */
export function whyNotListening(error: unknown, { host, port }: Pick<Config, 'host' | 'port'>): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port: KEYLEDGER_PORT=8081 npm start`
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose a port above 1023: KEYLEDGER_PORT=8080 npm start`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Set KEYLEDGER_HOST to one that is, for example 127.0.0.1 or 0.0.0.0`
    default:
      return `Cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`
  }
}
