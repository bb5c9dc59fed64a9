import { createServer } from 'node:net'
import { z } from 'zod'
import type { Config } from '../config.ts'
import type { SendNotification } from '../reactions/test-purchase-driver.ts'

const answerMs = 15_000

/** How the addresses begin that are handed out, and that providers send to. */
export const baseUrlOf = ({ baseUrl, port }: Pick<Config, 'baseUrl' | 'port'>): string =>
  baseUrl ?? `http://localhost:${port}`

/**
 * Port 0 means any that is free. Which one is found out before anything is handed out that it is part of.
 * @throws what listening on the host throws
 */
export async function withRealPort(config: Config): Promise<Config> {
  if (config.port !== 0) return config
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject).listen(0, config.host, resolve)
    })
    return { ...config, port: Port.parse(probe.address()).port }
  } finally {
    probe.close()
  }
}

const Port = z.object({ port: z.int() })

/** Sends to where providers send, from a process that may serve nothing itself. */
export function sendTo(baseUrl: string): SendNotification {
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
