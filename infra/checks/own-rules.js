// The rules of this project alone, as a plugin of oxlint.
import { errorHandlers } from './error-handlers.js'
import { numbersFromText, numbersFromVariables } from './numbers.js'

export default {
  meta: { name: 'keyledger' },
  rules: {
    'error-handlers': errorHandlers,
    'numbers-from-text': numbersFromText,
    'numbers-from-variables': numbersFromVariables,
  },
}
