import { join } from 'node:path'
import { buildDotnet, type DotnetProgram } from '../../harness/dotnet.ts'

const name = 'Keyledger.Client.Checks'

/** Builds the checks of the C# client. @returns why they cannot be built here */
export async function buildChecks(): Promise<DotnetProgram | string> {
  const project = join(import.meta.dirname, `../../../src/sdk/csharp/checks/${name}.csproj`)
  const built = await buildDotnet(project, name)
  return typeof built === 'string' ? `The client in C# is tested with the .NET SDK: ${built}` : built
}
