"""Kinds of systems that bring rules of their own: each file of rules/systems/, in the order of their names."""

for path in sorted((REPOSITORY / "rules/systems").glob("*.smk")):

    include: f"systems/{path.name}"
