import { createServer } from 'node:net'
import { z } from 'zod'
import type { Config } from '../config.ts'
import type { SendNotification } from '../processes/test-purchase-driver.ts'
import { CommandRefused } from './exit.ts'

const answerMs = 15_000

/** How the addresses begin that are handed out, and that providers send to. */
export const baseUrlOf = ({ baseUrl, port }: Pick<Config, 'baseUrl' | 'port'>): string =>
  baseUrl ?? `http://localhost:${port}`

/**
 * Port 0 means any that is free. Which one is found out before anything is handed out that it is part of.
 * @throws CommandRefused when the host cannot be listened on
 */
export async function withRealPort(config: Config): Promise<Config> {
  if (config.port !== 0) return config
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject).listen(0, config.host, resolve)
    })
    return { ...config, port: Port.parse(probe.address()).port }
  } catch (error) {
    throw new CommandRefused(whyNotListening(error, config))
  } finally {
    probe.close()
  }
}

const Port = z.object({ port: z.int() })

/** Sends to where providers send, from a process that may serve nothing itself. */
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
      // What an error of a connection says may repeat the address, which gumroad's token is part of.
      return undefined
    }
  }
}

/** What keeps a server from listening, and what to do about it. */
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
