import type { Say } from '../portal/texts.ts'
import { type ListProblem, mostAtOnce } from './list.ts'

/** What is wrong with a list of people, in a sentence. */
export function listProblemIn(say: Say, { what, line }: ListProblem): string {
  switch (what) {
    case 'empty':
      return say('listEmpty')
    case 'quote':
      return say('listQuote')
    case 'too_many':
      return say('listTooMany', { most: mostAtOnce, line: line - 1 })
    case 'email':
      return say('listEmail', { line })
    case 'name':
      return say('listName', { line })
    case 'role':
      return say('listRole', { line })
  }
}
