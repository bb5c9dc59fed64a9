import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const root = fileURLToPath(new URL('../..', import.meta.url))

async function works(program: string, ...words: string[]): Promise<boolean> {
  return run(program, words).then(
    () => true,
    () => false,
  )
}

/**
 * Builds infra/Dockerfile, as docs/operating/containers.md describes. @throws Error with the output of the build
 */
export async function buildImage(tag: string): Promise<void> {
  const { NODE_EXTRA_CA_CERTS: ca } = process.env
  const secret = ca ? ['--secret', `id=ca,src=${ca}`] : []
  const what = [...secret, '--file', 'infra/Dockerfile', '--tag', tag, '.']
  // Podman's own format has no health checks.
  const [program, ...words] = (await works('podman', 'version'))
    ? ['podman', 'build', '--format', 'docker', '--network', 'host', ...what]
    : ['docker', 'build', ...what]
  await run(program, words, { cwd: root, maxBuffer: 64 * 2 ** 20 })
}

/** @returns the command line of Compose on this machine, or undefined without it */
export async function findCompose(): Promise<string[] | undefined> {
  for (const words of [['docker', 'compose'], ['docker-compose'], ['podman-compose']]) {
    const [program = '', ...more] = words
    if (await works(program, ...more, 'version')) return words
  }
  return undefined
}

export type Finished = { code: number | null; stdout: string; stderr: string }

/** Runs a program in `infra`, which paths in compose.yaml are relative to. @param input its stdin */
export async function runWith(
  input: string,
  [program = '', ...words]: readonly string[],
  environment: Record<string, string>,
): Promise<Finished> {
  const child = spawn(program, words, { cwd: join(root, 'infra'), env: { ...process.env, ...environment } })
  child.stdin.on('error', () => undefined).end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { code, stdout, stderr }
}

/**
 * Podman leaves health checks to systemd. Without systemd, this runs them, because Compose waits for their results.
 * @param labelled selects containers by a label and its value
 * @returns a function that stops it
 */
export async function keepCheckingHealth(labelled: string): Promise<() => void> {
  if (existsSync('/run/systemd/system') || !(await works('podman', 'version'))) return () => undefined
  const stopping = new AbortController()
  const checking = async () => {
    while (!stopping.signal.aborted) {
      const { stdout } = await run('podman', ['ps', '--quiet', '--filter', `label=${labelled}`])
      for (const id of stdout.split('\n').filter(Boolean)) await works('podman', 'healthcheck', 'run', id)
      await sleep(1000, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  void checking()
  return () => stopping.abort()
}
