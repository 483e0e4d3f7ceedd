import { holdBudgets } from './rpc-budgets.ts'

holdBudgets('in a container', '0.0.0.0', 30)
