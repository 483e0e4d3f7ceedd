import { noticesEveryChange } from './verified-files.ts'

noticesEveryChange(97)
