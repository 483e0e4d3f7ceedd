/** Of the matrix, and of what the outcomes look like. */
export const MATRIX_STYLE = `
.paid_twice,.took_out_unpaid,.untold,.hung,.paid_twice_put_right,.made_twice{--tone:var(--fail)}.left_open,.perhaps_told,.lucky,.not_asked_for,.another_amount,.gave_up,.gave_up_looked,.stopped,.taken_back{--tone:var(--review)}.survived{--tone:var(--pass)}
.matrix th:first-child{position:sticky;left:0;background:var(--paper);white-space:nowrap}
.matrix thead td{border-top:0}.matrix td{text-align:center;white-space:nowrap;color:var(--tone);font-weight:600}
.matrix th{vertical-align:bottom;overflow-wrap:normal}.matrix thead th:not(:first-child){text-align:center}
.paid_twice.cell,.untold.cell,.hung.cell,.took_out_unpaid.cell,.made_twice.cell{background:var(--card);outline:1px solid var(--tone);outline-offset:-2px}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.2rem;margin:.8rem 0 0;font-size:.875rem}.legend b{color:var(--tone)}
@media (max-width:40rem){.matrix{font-size:.8rem}.matrix th,.matrix td{padding:.3rem}
.matrix th:first-child{white-space:normal;min-width:7.5rem}
.matrix thead th:not(:first-child){writing-mode:vertical-rl;text-align:right}}
`
