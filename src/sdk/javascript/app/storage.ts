import type { Storage } from './ports.ts'

/** Remembers until the program ends. */
export function memoryStorage(text?: string): Storage {
  let kept = text
  return {
    read: () => kept,
    write(next) {
      kept = next
    },
  }
}

/** The part of `localStorage` that is used. */
type WebStorage = { getItem(name: string): string | null; setItem(name: string, value: string): void }

/** Keeps it in `localStorage`, or whatever has its shape, under a name. */
export const webStorage = (storage: WebStorage, name = 'keyledger'): Storage => ({
  read: () => storage.getItem(name) ?? undefined,
  write: (text) => storage.setItem(name, text),
})
