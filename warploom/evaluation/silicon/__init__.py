"""The experiment of [HAWS], Figs. 4.9 and 4.10: the model beside recorded silicon (docs/silicon.md)."""
