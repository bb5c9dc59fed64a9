import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Provider } from '../../src/domain/integrations/provider.ts'

const Golden = z.object({
  /** The URL of the shape's documentation. */
  source: z.string().startsWith('https://'),
  body: z.unknown().optional(),
  form: z.record(z.string(), z.string()).optional(),
  /** The translation, without fields that are derived from the whole body. */
  means: z.looseObject({ type: z.string() }),
})

/** Every golden notification of a provider: its name, its bytes, and its translation. */
export function goldenOf(provider: Provider): { name: string; raw: string; means: object }[] {
  const folder = join(import.meta.dirname, 'golden', provider)
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const { body, form, means } = Golden.parse(JSON.parse(readFileSync(join(folder, file), 'utf8')))
      const raw = form ? new URLSearchParams(form).toString() : JSON.stringify(body)
      return { name: file.replace('.json', ''), raw, means }
    })
}
