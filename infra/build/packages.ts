/** Packs the SDKs as their registries take them, into `dist/packages`: `npm run package`. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { packJavascript } from './javascript.ts'
import { hasDotnet, packNuget } from './nuget.ts'
import { packCpp, packCrate, packSwift } from './source-archives.ts'

const root = join(import.meta.dirname, '../..')
const packages = join(root, 'dist/packages')

mkdirSync(packages, { recursive: true })
await packJavascript(packages)
packCrate(packages)
packCpp(packages)
packSwift(packages)
if (hasDotnet()) packNuget(packages)
else process.stderr.write('Keyledger.Client is not packed, for which the .NET SDK is needed (dotnet)\n')
