import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { installPackages, placesOf, programAt } from './debian.ts'

const packages = ['libsecret-tools', 'gnome-keyring', 'dbus']
const programs = ['secret-tool', 'gnome-keyring-daemon', 'dbus-run-session']
const hasPrograms = (): boolean => {
  try {
    return programs.every((name) => programAt(placesOf(name), [], name))
  } catch {
    return false
  }
}

/**
 * Looks for what a Secret Service is run with, and installs it where that needs no question.
 * @returns why it cannot be run here
 */
export function secretServiceMissing(): string | undefined {
  if (hasPrograms() || (installPackages(...packages) && hasPrograms())) return undefined
  return `Key stores are tested with ${packages.join(', ')}: install them`
}

/** A session of a desktop with a key ring: the environment of its programs. */
export type SecretService = { environment: NodeJS.ProcessEnv; end(): Promise<void> }

/**
 * Starts a session with GNOME's key ring.
 * @param home where the key ring is kept
 * @param isUnlocked otherwise nobody is there to type its password
 */
export async function startSecretService(home: string, isUnlocked = true): Promise<SecretService> {
  mkdirSync(home, { recursive: true })
  const env: NodeJS.ProcessEnv = { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, XDG_DATA_HOME: home }
  // On a desktop it would ask its user.
  delete env.DISPLAY
  delete env.WAYLAND_DISPLAY
  const keyRing = isUnlocked
    ? 'printf password | gnome-keyring-daemon --unlock --components=secrets'
    : 'gnome-keyring-daemon --start --components=secrets'
  const script = `${keyRing} >&2; echo "$DBUS_SESSION_BUS_ADDRESS"; cat`
  const session = spawn('dbus-run-session', ['--', 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env,
  })
  const ended = once(session, 'exit')
  const lines = createInterface({ input: session.stdout })[Symbol.asyncIterator]()
  const { value: address } = await lines.next()
  if (address === undefined) throw new Error('a session with a key ring cannot be started')
  return {
    environment: { ...env, DBUS_SESSION_BUS_ADDRESS: String(address) },
    async end() {
      session.stdin.end()
      await ended
    },
  }
}
