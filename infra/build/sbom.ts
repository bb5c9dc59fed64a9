import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const Sbom = z.looseObject({
  components: z.array(z.looseObject({ 'bom-ref': z.string() })),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
})

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({ name: z.string().optional(), version: z.string(), dev: z.boolean().optional() }),
  ),
})

/** @returns `name@version` of each package in the lock file that is not for development alone */
export function neededPackages(root: string): Set<string> {
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
  return new Set(
    Object.entries(packages)
      .filter(([path, { dev }]) => path !== '' && !dev)
      .map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1) ?? ''}@${version}`),
  )
}

/**
 * Lists the packages that keyledger runs on, for every platform, with their hashes. They are read from the lock file, so this needs
 * no network.
 * @returns the list in the form of CycloneDX
 */
export function sbomOf(root: string): string {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const all = Sbom.parse(JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8' })))
  // `--omit dev` leaves out packages that are needed by both, and a second copy of a package hides the first.
  const needed = neededPackages(root)
  const components = all.components.filter((component) => needed.has(component['bom-ref']))
  const isLeftOut = new Set(all.components.map((component) => component['bom-ref']))
  for (const component of components) isLeftOut.delete(component['bom-ref'])
  const dependencies = all.dependencies
    .filter(({ ref }) => !isLeftOut.has(ref))
    .map((one) => ({ ...one, dependsOn: one.dependsOn.filter((ref) => !isLeftOut.has(ref)) }))
  return JSON.stringify({ ...all, components, dependencies }, null, 2)
}
