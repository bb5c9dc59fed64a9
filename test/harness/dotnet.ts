// cspell:ignore OPTOUT NOLOGO
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A .NET program that was built into a directory of its own. */
export type DotnetProgram = { command: string; environment: NodeJS.ProcessEnv; path: string; remove(): void }

const hasDotnet = (): boolean => {
  try {
    execFileSync('dotnet', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Builds a project outside the checkout, without a build server that would stay.
 * @returns undefined without the .NET SDK
 */
export function buildDotnet(project: string, assembly: string): DotnetProgram | undefined {
  if (!hasDotnet()) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const environment = {
    ...process.env,
    DOTNET_CLI_TELEMETRY_OPTOUT: '1',
    DOTNET_NOLOGO: '1',
    DOTNET_CLI_HOME: directory,
  }
  const options = ['--configuration', 'Release', '--artifacts-path', directory, '--disable-build-servers']
  execFileSync('dotnet', ['build', project, ...options, '-p:UseSharedCompilation=false', '--nologo'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return {
    command: 'dotnet',
    environment,
    path: join(directory, 'bin', assembly, 'release', `${assembly}.dll`),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
