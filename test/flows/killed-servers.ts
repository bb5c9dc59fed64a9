import { setTimeout as sleep } from 'node:timers/promises'
import { type Environment, freePort, type Host, type Server } from '../harness/process.ts'
import { type Answer, client } from './vendor.ts'

const livesMs = 1500
const lostShare = 0.1

/** Servers on the same stores, of which one after the other may be killed and started again. */
export type KilledServers = {
  address: string
  /**
   * Kills them until the work has ended, also by a failure: a server that is started after the test would stay. All of them run
   * then.
   * @returns what the work returns
   */
  whileKilled<Result>(work: () => Promise<Result>): Promise<Result>
  /**
   * Sends a request to any of them until one has answered it. A tenth of the answers is lost after the work, so a request has to be one that
   * may be repeated.
   */
  insist(
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  /** How many answers were lost so far. */
  lost(): number
}

/**
 * @param count how many run
 * @param sdkKey for requests of apps as well
 */
export async function startKilledServers(
  host: Host,
  environment: Environment,
  token: string,
  count: number,
  sdkKey?: string,
): Promise<KilledServers> {
  const ports = await Promise.all(Array.from({ length: count }, freePort))
  const running = await Promise.all(ports.map((port) => host.serve(environment, { port })))
  const clients = running.map(({ address }) => client(address, token, sdkKey))
  let lost = 0

  async function killUntil(end: AbortSignal): Promise<void> {
    for (let index = 0; ; index = (index + 1) % count) {
      await sleep(livesMs)
      if (end.aborted) return
      await running[index]?.end('SIGKILL')
      running[index] = await startedAgain(ports[index] ?? 0)
    }
  }

  /** On a busy machine, a store may take too long to answer a server that starts, which then ends: it is started again. */
  async function startedAgain(port: number): Promise<Server> {
    for (let attempt = 1; ; attempt++)
      try {
        return await host.serve(environment, { port })
      } catch (error) {
        if (attempt === 5) throw error
      }
  }

  return {
    address: running[0]?.address ?? '',
    async whileKilled(work) {
      const ended = new AbortController()
      const killing = killUntil(ended.signal)
      try {
        return await work()
      } finally {
        ended.abort()
        await killing
      }
    },
    async insist(method, path, body, headers) {
      for (;;) {
        const any = clients[Math.floor(Math.random() * count)]
        const answer = await any?.send(method, path, body, headers).catch(() => undefined)
        if (answer === undefined || answer.status >= 500) await sleep(50)
        else if (Math.random() < lostShare) lost++
        else return answer
      }
    },
    lost: () => lost,
  }
}
