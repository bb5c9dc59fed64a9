import { argument } from './field.ts'
import type { Commands } from './operation.ts'

/** Who has the seats of licenses whose seats are of people. */
export const personSeatCommands = {
  listSeatedPeople: {
    words: 'licenses people list',
    summary: 'List the people who have seats of a license',
    columns: {
      PERSON: 'id',
      EMAIL: 'email',
      NAME: 'name',
      KEY: 'displayKey',
      DEVICES: 'devices',
      ASSIGNED: 'assignedAt',
    },
  },
  assignSeat: {
    words: 'licenses people assign',
    summary: 'Give a person of the organization a seat, and show their key',
    options: { personId: argument('the person') },
  },
  replacePersonalKey: {
    words: 'licenses people new-key',
    summary: 'Give a person who has a seat a new key',
    question: 'Replace the key of this person? The current one stops working.',
  },
  unassignSeat: {
    words: 'licenses people unassign',
    summary: 'Take the seat of a person, and free their devices',
  },
} satisfies Partial<Commands>
