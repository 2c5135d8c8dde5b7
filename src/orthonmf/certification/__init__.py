"""What is proven about a result: computed when it is looked at, from data that are read then."""
