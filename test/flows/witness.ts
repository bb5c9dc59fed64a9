import { expect } from 'vitest'
import { freePort, type Host, program, type Running } from '../harness/process.ts'

export type RunningWitness = { running: Running; url: string; key: string }

/** Starts `keyledger witness` for the log of a key, and waits until it listens. */
export async function startWitness(host: Host, logKey: string): Promise<RunningWitness> {
  const port = String(await freePort())
  const words = ['--data', host.path('witness'), '--name', 'example.com/w1', '--log', logKey, '--port', port]
  const running = host.start(['node', program, 'witness', ...words], {})
  await expect.poll(() => running.stdout()).toContain('Log: ')
  const key = /^Witness key: (\S+)$/m.exec(running.stdout())?.[1] ?? ''
  return { running, key, url: `http://localhost:${port}` }
}
