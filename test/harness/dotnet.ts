// cspell:ignore OPTOUT NOLOGO
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A .NET program that was built into a directory of its own. */
export type DotnetProgram = { environment: NodeJS.ProcessEnv; path: string; remove(): void }

/**
 * Builds a project outside the checkout, without a build server that would stay.
 * @returns why it cannot be built here: there is no .NET SDK, or none of its registries has a package that the project needs
 */
export async function buildDotnet(project: string, assembly: string): Promise<DotnetProgram | string> {
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  const environment = {
    ...process.env,
    DOTNET_CLI_TELEMETRY_OPTOUT: '1',
    DOTNET_NOLOGO: '1',
    DOTNET_CLI_HOME: directory,
  }
  const dotnet = (...words: string[]) => promisify(execFile)('dotnet', words, { env: environment })
  const options = ['--artifacts-path', directory, '--disable-build-servers', '--nologo']
  try {
    await dotnet('--version')
  } catch {
    remove()
    return 'install it (dotnet)'
  }
  try {
    await dotnet('restore', project, '--artifacts-path', directory, '--disable-build-servers')
  } catch (error) {
    remove()
    return `its packages cannot be had: ${String((error as { stdout?: unknown }).stdout)}`
  }
  const settings = ['--configuration', 'Release', '--no-restore', '-p:UseSharedCompilation=false']
  await dotnet('build', project, ...options, ...settings)
  return { environment, path: join(directory, 'bin', assembly, 'release', `${assembly}.dll`), remove }
}
