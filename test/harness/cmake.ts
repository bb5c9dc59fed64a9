import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installPackages } from './debian.ts'

const run = promisify(execFile)

const packages = ['g++', 'cmake', 'pkg-config', 'libsodium-dev', 'libcurl4-openssl-dev']
const hasTools = async (): Promise<boolean> => {
  try {
    await run('pkg-config', ['--exists', 'libsodium', 'libcurl'])
    await run('cmake', ['--version'])
    await run('g++', ['--version'])
    return true
  } catch {
    return false
  }
}

/** Runs cmake. @throws Error when it fails, with what it prints */
export async function cmake(...words: readonly string[]): Promise<void> {
  await run('cmake', words, { maxBuffer: 2 ** 26 })
}

/**
 * Looks for what the C++ client is built with, and installs it where that needs no question.
 * @returns why it cannot be built here
 */
export async function cppMissing(): Promise<string | undefined> {
  if ((await hasTools()) || (installPackages(...packages) && (await hasTools()))) return undefined
  return `The C++ client is tested with ${packages.join(', ')}: install them`
}
