def test_placeholder(maker, answered):
    from bakeoff.report import build, terminal_table

    run = (
        maker.arm("tiny-bf16", answered(lambda i: i % 7 == 0))
        .arm("tiny-gguf-bf16", answered(lambda i: i % 7 == 0 or i == 5), backend="gguf")
        .write()
    )
    r = build(run)
    print()
    print(terminal_table(r))
    print(run.path)
